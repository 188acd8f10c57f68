import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { type NewFile, publish } from './publishing.ts'
import { startService, type TestService } from './service.ts'

export const nobody = '00000000-0000-7000-8000-000000000000'
export const artifactsOf = (repository: string): string => `/api/v1/repositories/${repository}/artifacts`

/** A service with published files, who writes them, who reads them, and who knows nothing of them. */
export const artifactReaders = (engine: TestEngine) => {
  let service: TestService
  let writer: Person
  let reader: Person
  let stranger: Person
  let folder: string
  /** A key of the keys file, which is no person. */
  const serviceKey = randomBytes(32).toString('hex')

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-keys-'))
    service = await startService(engine)
    await createOwner(service)
    for (const id of ['files', 'paged', 'exact', 'empty', 'other', 'hidden']) await createRepository(service, id)
    writer = await createPerson(service, 'writer')
    reader = await createPerson(service, 'reader')
    stranger = await createPerson(service, 'stranger')
    for (const repository of ['files', 'paged', 'exact', 'empty', 'other', 'hidden'])
      await grant(service, writer, repository, 'write')
    for (const repository of ['files', 'paged', 'empty', 'other']) await grant(service, reader, repository, 'read')
    const path = join(folder, 'keys.json')
    const repositories = [{ repository: 'files', permissions: ['read'] }]
    await writeFile(path, JSON.stringify({ keys: [{ id: 'robot', sha256: hash('sha256', serviceKey), repositories }] }))
    await service.restart({ SVC_KEYS_FILE: path })
  })
  after(async () => {
    await service.stop()
    await rm(folder, { recursive: true })
  })

  const get = (path: string, headers: Record<string, string> = {}, credential = reader.token): Promise<Told> =>
    service.ask({ path, credential, headers })
  const head = (path: string, headers: Record<string, string> = {}): Promise<Told> =>
    service.ask({ method: 'HEAD', path, credential: reader.token, headers })
  const refused = (told: Told, status: number, code: string): void => {
    assert.equal(told.status, status, told.text)
    assert.equal(told.json.code, code, told.text)
  }
  /** Publishes it in `files`; the path of its record. */
  const published = async (file: NewFile): Promise<string> =>
    `${artifactsOf('files')}/${await publish(service, writer.token, 'files', file)}`
  return {
    get service() {
      return service
    },
    get writer() {
      return writer
    },
    get reader() {
      return reader
    },
    get stranger() {
      return stranger
    },
    serviceKey,
    get,
    head,
    refused,
    published,
  }
}
