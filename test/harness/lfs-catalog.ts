import { randomBytes } from 'node:crypto'
import type { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { described, lfsType } from './lfs.ts'
import type { Answering } from './service.ts'

interface Place {
  readonly service: Answering
  readonly credential: string
  /** May delete. */
  readonly keeper: string
  readonly repository: string
}

const sender = ({ service, credential, repository }: Place) => {
  const put = (bytes: string | Uint8Array): Ask => ({
    method: 'PUT',
    path: `/lfs/${repository}/objects/${described(bytes).oid}/content`,
    credential,
    body: bytes,
  })
  const push = async (bytes: string | Uint8Array): Promise<string> => {
    await expectAnswer(service, put(bytes), 200)
    return described(bytes).oid
  }
  return { put, push }
}

/**
 * Something of everything about Git LFS, in the repository of a catalog: small and large objects, one that was deleted,
 * and one that was pushed again since. Answers questions about it, by the ids of operations.
 */
export const pushRichLfs = async ({ service, writer, repository, keeper }: Catalog): Promise<Record<string, Ask[]>> => {
  const credential = writer.token
  const { push } = sender({ service, credential, keeper, repository })
  const objects = [await push('a small object'), await push(''), await push(randomBytes(700_000))]
  const base = `/api/v1/repositories/${repository}/lfs`
  for (const bytes of ['deleted', 'deleted and pushed again']) {
    const path = `${base}/objects/${await push(bytes)}`
    await expectAnswer(service, { method: 'DELETE', path, credential: keeper }, 204)
  }
  await push('deleted and pushed again')
  const locks = `/lfs/${repository}/team/app/locks`
  for (const path of ['art/one.psd', 'art/two.psd'])
    await expectAnswer(service, { method: 'POST', path: locks, credential, body: JSON.stringify({ path }) }, 201)
  const setting = { method: 'PUT', path: `${base}/settings`, credential: keeper }
  await expectAnswer(service, { ...setting, json: { expectedRevision: 0, locking: true } }, 200)
  const asked = (path: string): Ask => ({ path, credential })
  return {
    getLfsObject: objects.map((oid) => asked(`/lfs/${repository}/objects/${oid}/content`)),
    listLfsObjects: ['', '?limit=1', '?order=desc'].map((query) => asked(`${base}/objects${query}`)),
    listLfsLocks: ['', '?limit=1', '?path=art/two.psd'].map((query) => asked(locks + query)),
    getLfsSettings: [asked(`${base}/settings`)],
    listDeletedLfsObjects: ['', '?limit=1&order=desc'].map((query) => asked(`${base}/deleted-objects${query}`)),
  }
}

/** A request for each operation that changes something of Git LFS, by its id: each succeeds. */
export const changesOfLfs = async (place: Place): Promise<Record<string, Ask>> => {
  const { service, credential, keeper, repository } = place
  const { put, push } = sender(place)
  const said = (path: string, json: object): Ask => ({
    method: 'POST',
    path,
    credential,
    headers: { 'content-type': lfsType },
    body: JSON.stringify(json),
  })
  const there = described('there for LFS')
  await push('there for LFS')
  const base = `/api/v1/repositories/${repository}/lfs`
  const removal = (oid: string): Ask => ({ method: 'DELETE', path: `${base}/objects/${oid}`, credential: keeper })
  const missed = await push('missed')
  await expectAnswer(service, removal(missed), 204)
  const locks = `/lfs/${repository}/locks`
  const locked = await expectAnswer(service, said(locks, { path: 'locked' }), 201)
  const appended = described('appended')
  return {
    askLfsBatch: said(`/lfs/${repository}/objects/batch`, { operation: 'download', objects: [there] }),
    verifyLfsObject: said(`/lfs/${repository}/objects/${there.oid}/check`, there),
    putLfsObject: put('a new object'),
    appendToLfsObject: {
      method: 'PATCH',
      path: `/lfs/${repository}/objects/${appended.oid}/rest?size=${appended.size}`,
      credential,
      headers: { 'upload-offset': '0' },
      body: 'appended',
    },
    deleteLfsObject: removal(await push('unwanted')),
    createLfsLock: said(locks, { path: 'to be locked' }),
    verifyLfsLocks: said(`${locks}/verify`, {}),
    removeLfsLock: said(`${locks}/${locked.json.lock.id}/unlock`, {}),
    putLfsSettings: {
      method: 'PUT',
      path: `${base}/settings`,
      credential: keeper,
      json: { expectedRevision: 0, locking: true },
    },
    restoreLfsObject: { method: 'POST', path: `${base}/deleted-objects/${missed}/restore`, credential },
  }
}
