/** Units in which bounds are told: bytes and milliseconds. */
export const KiB = 1024
export const MiB = 1024 * KiB
export const GiB = 1024 * MiB
export const TiB = 1024 * GiB

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
