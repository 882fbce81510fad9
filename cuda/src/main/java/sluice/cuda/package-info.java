/// The CUDA driver and NVML by name: [Driver][sluice.cuda.Driver] and [Nvml][sluice.cuda.Nvml], and one class for each group of their calls.
///
/// Must not know: Sluice. A driver with the library in front of it is just a driver here.
package sluice.cuda;
