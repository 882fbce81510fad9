/// Memory: what is charged, what is refused, and what the account costs.
package sluice.it.memory;
