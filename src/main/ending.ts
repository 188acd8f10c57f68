/** How a process ends that does not know what its disk holds (EX_IOERR of sysexits.h). */
export const suspectExitCode = 74

/**
 * Ends at once, closes nothing and answers nobody: what this process would still write could be built on what the disk
 * has lost. Whoever supervises the service starts it again, and the start finds out what is really there.
 */
export const endSuspect = (): never => process.exit(suspectExitCode)
