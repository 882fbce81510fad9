/// Code that all parts of the generator share: a file to write, names for Java, and problems of a spec with their line numbers.
///
/// Must not know: any spec, or what is generated from it.
package sluice.codegen.text;
