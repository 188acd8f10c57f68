/**
 * Room on this machine for what is read once more soon, and by nobody else: what is put there waits for a place that is
 * slower. It is gone when it is closed or its process has ended, however that ends.
 */
export interface Spool extends AsyncDisposable {
  /** Keeps bytes; answers where they begin. One at a time. */
  append(bytes: Uint8Array): Promise<number>
  read(start: number, bytes: number): Promise<Buffer>
}

/** There is no room for it on this machine, the reserve of the service left. */
export class SpoolFull extends Error {
  override readonly name = 'SpoolFull'
}

export type OpenSpool = () => Promise<Spool>
