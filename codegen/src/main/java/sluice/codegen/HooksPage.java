package sluice.codegen;
final class HooksPage { private HooksPage() {} static String emit(ApiSpec cuda, ApiSpec nvml) { return ""; } }
