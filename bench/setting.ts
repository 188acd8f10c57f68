import { MiB } from '../src/kernel/units.ts'
import type { Bench } from './servers.ts'

export interface Sizes {
  readonly rounds: number
  readonly bigBytes: number
  /** Of each of the uploads whose memory is looked at. */
  readonly parallelUploadBytes: number
  readonly getSeconds: number
  readonly puts: number
  readonly signIns: number
  /** Small files whose bytes are removed. */
  readonly reclaimed: number
  /** Of strangers, beside small requests. */
  readonly hostileConnections: number
}

export const thorough: Sizes = {
  rounds: 3,
  bigBytes: 1024 * MiB,
  parallelUploadBytes: 256 * MiB,
  getSeconds: 8,
  puts: 4_000,
  signIns: 96,
  reclaimed: 100_000,
  hostileConnections: 10_000,
}

export const brief: Sizes = {
  rounds: 1,
  bigBytes: 128 * MiB,
  parallelUploadBytes: 16 * MiB,
  getSeconds: 2,
  puts: 400,
  signIns: 24,
  reclaimed: 2_000,
  hostileConnections: 2_000,
}

export interface Setting {
  readonly servers: readonly Bench[]
  readonly sizes: Sizes
  /** For files of the clients. */
  readonly scratch: string
  /** Where profiles of the service go, if any are wanted. */
  readonly profiles: string | null
}
