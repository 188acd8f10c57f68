import type { Sha256 } from '../../../kernel/digest.ts'
import { isVaultName, toVaultName, type VaultName } from '../../../ports/vault-name.ts'

/*
 * What lies in a vault (docs/reference/vault.md):
 *
 *     vault.json                       written first: what the vault is called
 *     data/<ab>/<id>.<kind>[.zst][.age]
 *                                      bytes, once, whichever point names them; `ab` are the first two characters of
 *                                      the digest of what is in it
 *     index/<digest>-<id>.list.zst     what a capture has copied before it could write its manifest
 *     points/<id>.json                 the manifest of a point, written last (I6)
 *     points/<id>.<tag>.held           somebody reads the point
 */

export const vaultName = toVaultName('vault.json')
export const indexFolder = toVaultName('index')
export const pointsFolder = toVaultName('points')

/** The data lies in 256 parts: `00` … `ff`. */
export const dataParts: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'))

export const dataPart = (part: string): VaultName => toVaultName(`data/${part}`)

/** A file, a pack of small files, a chunk of rows, a chunk of a list. */
type DataKind = 'blob' | 'pack' | 'rows' | 'list'

export interface DataForm {
  readonly kind: DataKind
  readonly compressed: boolean
  readonly encrypted: boolean
}

const dataForm = /^data\/([0-9a-f]{2})\/([0-9a-f]{64})(?:-([1-9][0-9]{0,11}))?\.(blob|pack|rows|list)(\.zst)?(\.age)?$/

/**
 * What data is called. `id` is the digest of what is in it, or in an encrypted vault what only its key makes of that.
 * What is there is never written over, and no name is given again: another try has another name.
 */
export const dataName = (digest: Sha256, id: string, attempt: number, form: DataForm): VaultName =>
  toVaultName(
    `data/${digest.slice(0, 2)}/${id}${attempt === 0 ? '' : `-${attempt}`}.${form.kind}${form.compressed ? '.zst' : ''}${
      form.encrypted ? '.age' : ''
    }`,
  )

/** What all tries of the same data have in common. */
export const withoutTry = (name: string): string => name.replace(/^(data\/..\/[0-9a-f]{64})-\d+/, '$1')

export const isDataName = (name: string): name is VaultName => dataForm.test(name) && isVaultName(name)

/** In which form the data of this name lies. Throws a RangeError for what is no such name. */
export const formOf = (name: VaultName): DataForm => {
  const [, , , , kind, zst, age] = dataForm.exec(name) ?? []
  if (kind !== 'blob' && kind !== 'pack' && kind !== 'rows' && kind !== 'list')
    throw new RangeError(`not a name of data: ${JSON.stringify(name)}`)
  return { kind, compressed: zst !== undefined, encrypted: age !== undefined }
}

/**
 * An index says in its name with which digest it begins, so that it is read when it is its turn; where it is encrypted,
 * only what the folders of data tell as well.
 */
export const indexName = (first: Sha256, id: string, encrypted: boolean): VaultName =>
  toVaultName(
    `index/${(encrypted ? first.slice(0, 2) : first).slice(0, 32).padEnd(32, '0')}-${id.slice(0, 32)}.list.zst${encrypted ? '.age' : ''}`,
  )

const indexForm = /^index\/([0-9a-f]{32})-[0-9a-f]{32}\.list\.zst(?:\.age)?$/

/** The beginning of the first digest in an index, or null for what is none. */
export const firstOfIndex = (name: VaultName): string | null => indexForm.exec(name)?.[1] ?? null

export const pointName = (id: string): VaultName => toVaultName(`points/${id}.json`)

/** What says beside the manifest of a point that somebody reads it. */
export const holdName = (id: string, tag: string): VaultName => toVaultName(`points/${id}.${tag}.held`)

const holdForm = /^points\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.[0-9a-f]{8}\.held$/

/** Which point somebody reads by that, or null for what says nothing of the kind. */
export const holdOf = (name: VaultName): string | null => holdForm.exec(name)?.[1] ?? null

const pointForm = /^points\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.json$/

/** Which point a manifest is of, or null for what is no manifest. */
export const pointOf = (name: VaultName): string | null => pointForm.exec(name)?.[1] ?? null
