/// `spec/*.abi`: the layouts of shared files, read and checked, and the C structs, Java views and pages generated from them.
package sluice.codegen.layout;
