package sluice.agent.machine;

import java.time.Instant;

/// An event.
///
/// @param number counts events from the start of the agent
/// @param kind   one word, such as `began`, `ended`, `limits`, `refused`, `error`, `paused`, `released`, `resumed`
/// @param tenant empty when it is about no tenant
/// @param uid    the user that may see it
/// @param text   one line for people
public record Event(long number, Instant at, String kind, String tenant, long uid, String text) {}
