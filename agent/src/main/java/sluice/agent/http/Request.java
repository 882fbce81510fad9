package sluice.agent.http;

import java.util.Map;
import java.util.Optional;

/// One request. Only the caller is verified; the client can write anything into the rest.
///
/// @param path     decoded, without the query
/// @param parts    of the path, by the names in the route's pattern
/// @param query    first value of each parameter
/// @param headers  first value of each, names in lower case
public record Request(
        String method,
        String path,
        Map<String, String> parts,
        Map<String, String> query,
        Map<String, String> headers,
        byte[] body,
        Caller caller) {

    public Request {
        parts = Map.copyOf(parts);
        query = Map.copyOf(query);
        headers = Map.copyOf(headers);
    }

    /// A part of the path that the route's pattern names.
    public String part(String name) {
        return parts.get(name);
    }

    public Optional<String> query(String name) {
        return Optional.ofNullable(query.get(name));
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    Request with(Map<String, String> pathParts) {
        return new Request(method, path, pathParts, query, headers, body, caller);
    }
}
