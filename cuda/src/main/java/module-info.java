/// A small client of the CUDA driver and of NVML, through the Foreign Function & Memory API.
///
/// Owns: opening the libraries by name as any program would, the calls that the proof and the doctor need, and the PTX
/// of their kernels. Must not know: Sluice. To this module a driver with the library in front of it is just a driver.
module sluice.cuda {
    exports sluice.cuda;
}
