/// What is generated from `spec/*.api`: wrappers, tables and pages of entry points.
package sluice.codegen.entries;
