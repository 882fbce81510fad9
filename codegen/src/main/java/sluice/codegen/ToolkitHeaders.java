package sluice.codegen;
final class ToolkitHeaders { private ToolkitHeaders() {} static ToolkitHeaders read(java.nio.file.Path p) { return new ToolkitHeaders(); } }
