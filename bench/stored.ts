import { join } from 'node:path'
import { makeFile, uploadSeconds } from './load.ts'
import type { Setting } from './setting.ts'

export interface Stored {
  readonly name: string
  readonly sha256: string
  readonly path: string
}

/** Makes a file and stores it on every server. */
export const storedEverywhere = async ({ servers, scratch }: Setting, name: string, bytes: number): Promise<Stored> => {
  const path = join(scratch, name)
  const file = { name, sha256: await makeFile(path, bytes), path }
  for (const server of servers) await uploadSeconds(server, [file])
  return file
}
