package sluice.codegen;
final class ToolkitComparison { private ToolkitComparison() {} static java.util.List<String> of(ApiSpec a, ToolkitHeaders b) { return java.util.List.of(); } }
