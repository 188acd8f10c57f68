import { hash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestService } from './service.ts'

export interface FileKeyWish {
  readonly id: string
  readonly repositories?: readonly { repository: string; permissions: readonly ('read' | 'write')[] }[]
  readonly administrator?: boolean
  readonly serviceAdministrator?: boolean
  /** Instead of one that is made up. */
  readonly secret?: string
}

/** Adds keys to the keys file and starts the service again, which reads it; returns their secrets by id. */
export const addFileKeys = async (
  service: TestService,
  wishes: readonly FileKeyWish[],
): Promise<Record<string, string>> => {
  const path = join(service.dataDir, 'config', 'keys.json')
  const file: { keys: object[] } = JSON.parse(await readFile(path, 'utf8'))
  const secrets: Record<string, string> = {}
  for (const { secret = randomBytes(32).toString('hex'), ...wish } of wishes) {
    secrets[wish.id] = secret
    file.keys.push({ repositories: [], ...wish, sha256: hash('sha256', secret) })
  }
  await writeFile(path, JSON.stringify(file))
  await service.restart()
  return secrets
}
