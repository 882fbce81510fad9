/// Programs made for older tools, and other versions of Sluice.
package sluice.it.compatibility;
