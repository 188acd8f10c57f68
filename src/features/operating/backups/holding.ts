import { randomBytes } from 'node:crypto'
import { holdsOfPointsMax, pointHeldEveryMs, pointHeldMs } from '../../../kernel/limits/backups.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { holdName, holdOf, pointsFolder } from './layout.ts'
import { lyingBelow, pointsIn } from './lying.ts'

/**
 * Keeps a point from being taken out of its vault while somebody reads it, by a small file beside its manifest that is
 * renewed now and then. What dies leaves one that soon counts no more. `refused` is told where the vault takes no such
 * file: it may be read-only.
 */
export const holdPoint = async (
  vault: BackupVault,
  id: string,
  refused: (error: VaultFailure) => void,
): Promise<AsyncDisposable> => {
  let held: VaultName | null = null
  const renew = async (): Promise<void> => {
    const before = held
    const next = holdName(id, randomBytes(4).toString('hex'))
    try {
      await vault.create(next, Buffer.from('{"format":"svc-hold","formatVersion":1}\n'))
      held = next
      if (before !== null) await vault.remove([before])
    } catch (error) {
      if (!(error instanceof VaultFailure)) throw error
      refused(error)
    }
  }
  await renew()
  let renewing: Promise<void> = Promise.resolve()
  const renewal = setInterval(() => {
    renewing = renewing.then(renew).catch(() => {})
  }, pointHeldEveryMs).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(renewal)
      await renewing
      // One that stays is swept once it is old.
      if (held !== null) await vault.remove([held]).catch(() => {})
    },
  }
}

/** The points that are being read, and files that say so no more. */
export const holdsIn = async (
  vault: BackupVault,
  nowMs: number,
  goOn: () => void,
): Promise<{ readonly held: ReadonlySet<string>; readonly old: readonly VaultName[] }> => {
  const held = new Set<string>()
  const old: VaultName[] = []
  for await (const { name, modifiedAtMs } of lyingBelow(vault, pointsFolder, { most: holdsOfPointsMax, goOn })) {
    const id = holdOf(name)
    if (id === null) continue
    if (modifiedAtMs > nowMs - pointHeldMs) held.add(id)
    else old.push(name)
  }
  return { held, old }
}

/**
 * Whether somebody reads a point that was taken out: they said so while it was. What it names stays for them then,
 * though nothing says any more what that is.
 */
export const isTakenOutRead = async (vault: BackupVault, nowMs: number, goOn: () => void): Promise<boolean> => {
  const { held } = await holdsIn(vault, nowMs, goOn)
  if (held.size === 0) return false
  const lying = await Array.fromAsync(pointsIn({ vault }, goOn), ({ id }) => id)
  return !held.isSubsetOf(new Set(lying))
}
