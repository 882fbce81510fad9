/// What all parts of the generator share: a file to write, names for Java, and problems of a spec with their line numbers.
package sluice.codegen.text;
