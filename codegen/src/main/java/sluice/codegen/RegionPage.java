package sluice.codegen;
final class RegionPage { private RegionPage() {} static String emit(RegionSpec region) { return ""; } }
