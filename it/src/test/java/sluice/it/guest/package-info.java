/// The library as a guest of programs: each way into it, other clients of the driver, programs that cannot load it.
package sluice.it.guest;
