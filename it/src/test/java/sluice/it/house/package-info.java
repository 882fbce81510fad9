/// The sources and pages themselves: directions between packages, names in pages, licences, one place that opens files of others.
package sluice.it.house;
