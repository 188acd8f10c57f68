import { indexesLyingMax, pointsLyingMax } from '../../../kernel/limits/backups.ts'
import type { BackupVault, KeptFile } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { firstOfIndex, indexFolder, pointOf, pointsFolder } from './layout.ts'

interface Listing {
  /** More than anybody of us wrote there: a vault that lists more may have no end. */
  readonly most: number
  /** Throws where whoever asks is to stop. */
  readonly goOn: (() => void) | undefined
  /** Whether what is beyond is left, and the vault is not at fault. */
  readonly leavesRest?: boolean
}

const goOnEvery = 256

/** What lies below a name of a vault. One that lists more than it can have is at fault. */
export async function* lyingBelow(
  vault: BackupVault,
  within: VaultName,
  { most, goOn = () => {}, leavesRest = false }: Listing,
): AsyncGenerator<KeptFile> {
  let count = 0
  for await (const found of vault.list(within)) {
    if (count++ % goOnEvery === 0) goOn()
    if (count > most && leavesRest) return
    if (count > most)
      throw new VaultFailure(
        'damaged',
        vault.where,
        `it has more than ${most} files below ${within}, which is too many`,
      )
    yield found
  }
}

interface LyingPoint extends KeptFile {
  readonly id: string
}

/** The points whose manifests lie in a vault. */
export async function* pointsIn(
  { vault }: { readonly vault: BackupVault },
  goOn?: () => void,
): AsyncGenerator<LyingPoint> {
  for await (const found of lyingBelow(vault, pointsFolder, { most: pointsLyingMax, goOn })) {
    const id = pointOf(found.name)
    if (id !== null) yield { ...found, id }
  }
}

/** The indexes that lie in a vault. */
export async function* indexesIn(
  { vault }: { readonly vault: BackupVault },
  listing: Omit<Listing, 'most'>,
): AsyncGenerator<KeptFile> {
  for await (const found of lyingBelow(vault, indexFolder, { most: indexesLyingMax, ...listing }))
    if (firstOfIndex(found.name) !== null) yield found
}
