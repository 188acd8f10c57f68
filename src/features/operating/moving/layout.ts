import type { Sha256 } from '../../../kernel/digest.ts'
import { toVaultName, type VaultName } from '../../../ports/vault-name.ts'

/*
 * An export in a vault:
 *
 *     export.json                  written first: whose export it is
 *     tables/<table>-000001.ndjson.zst
 *     blobs/<ab>/<sha256>
 *     manifest.json                sealed last: what the export consists of
 *
 * So a vault without a manifest holds no export, and a blob that has its name already needs no copying again.
 */

export const markerName = toVaultName('export.json')
export const manifestName = toVaultName('manifest.json')
export const tablesName = toVaultName('tables')

/** The blobs lie in 256 parts, by the first two characters of their digests: `00` … `ff`. */
export const blobParts: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'))

export const blobPartOf = (digest: Sha256): string => digest.slice(0, 2)

/** What a file of rows is called: as text of a regular expression, which the manifest is checked by as well. */
export const pieceForm = '^tables/[a-z_]{1,64}-[0-9]{6,9}\\.ndjson\\.zst$'

const pieceName = new RegExp(pieceForm)
const blobForm = /^blobs\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/

/** Whether an export may have written it. What is called otherwise belongs to others, and stays. */
export const isPiece = (name: VaultName): boolean => pieceName.test(name)
export const isBlob = (name: VaultName): boolean => blobForm.test(name)

export const blobsName = (part: string): VaultName => toVaultName(`blobs/${part}`)

export const blobInVault = (digest: Sha256): VaultName => toVaultName(`blobs/${blobPartOf(digest)}/${digest}`)
