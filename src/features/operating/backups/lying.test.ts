import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import { toVaultName } from '../../../ports/vault-name.ts'
import { lyingBelow } from './lying.ts'

describe('what lies in a vault that has no end', () => {
  const within = toVaultName('data')
  const listed: Pick<BackupVault, 'list'> = {
    async *list() {
      for (let at = 0; ; at++) yield { name: toVaultName(`data/${at}`), bytes: 1, modifiedAtMs: 0 }
    },
  }
  const vault = { where: 'there', ...listed } as BackupVault
  const goOn = (): void => {}

  it('is a fault of the vault where it is more than anybody wrote', async () => {
    await assert.rejects(
      Array.fromAsync(lyingBelow(vault, within, { most: 1_000, goOn })),
      (error) => error instanceof VaultFailure && error.trouble === 'damaged',
    )
  })

  it('is left where whoever asks needs no more', async () => {
    const found = await Array.fromAsync(lyingBelow(vault, within, { most: 1_000, goOn, leavesRest: true }))
    assert.equal(found.length, 1_000)
  })

  it('keeps nobody who is to stop', async () => {
    let asked = 0
    const stops = (): void => {
      if (++asked === 3) throw new Error('stopped')
    }
    await assert.rejects(
      Array.fromAsync(lyingBelow(vault, within, { most: Number.POSITIVE_INFINITY, goOn: stops })),
      /stopped/,
    )
  })
})
