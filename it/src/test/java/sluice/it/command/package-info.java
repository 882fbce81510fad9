/// Commands that start, show and change tenants, and their answers to mistakes.
package sluice.it.command;
