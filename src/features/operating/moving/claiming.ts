import { Failure, invalid } from '../../../kernel/failure.ts'
import type { Vault } from '../../../ports/vault.ts'
import { isPiece, manifestName, markerName, tablesName } from './layout.ts'
import { markerOf, sourceIn } from './marker.ts'

/**
 * Makes a vault ready to be written to by an export of this database, which has it for itself until it gives the claim
 * back. What is there of its blobs stays. A vault that is refused is left as it was.
 */
export const claimToCapture = async (vault: Vault, source: string, refresh: boolean): Promise<AsyncDisposable> => {
  await refuseUnlessFor(vault, source, refresh)
  const claim = await vault.claim('write')
  if (claim === null)
    throw new Failure(
      'busy',
      `${vault.where} is in use: another svc export writes to it, or an svc import reads it. Wait until that has ended.`,
    )
  try {
    // Another export may have ended between the first look and the claim.
    await refuseUnlessFor(vault, source, refresh)
    await vault.remove([manifestName])
    await vault.create(markerName, markerOf(source))
    const tables = await Array.fromAsync(vault.list(tablesName), ({ name }) => name)
    await vault.remove(tables.filter(isPiece))
    return claim
  } catch (error) {
    await claim[Symbol.asyncDispose]()
    throw error
  }
}

const refuseUnlessFor = async (vault: Vault, source: string, refresh: boolean): Promise<void> => {
  const known = await sourceIn(vault)
  if (known === null && !(await vault.empty()))
    throw invalid(vault.where, 'is not empty and holds no export; name a new folder, or an empty one')
  if (known !== null && known !== source)
    throw invalid(vault.where, 'holds an export of another database; name another folder')
  if (!refresh && (await vault.sealed(manifestName)))
    throw invalid(vault.where, 'holds a finished export; name another folder, or bring it up to date with --refresh')
}

/** Keeps exports from a vault until the claim is given back. Where none was begun nothing is made. */
export const claimToRestore = async (vault: Vault): Promise<AsyncDisposable> => {
  if ((await vault.size(markerName)) === null) return { [Symbol.asyncDispose]: async () => {} }
  const claim = await vault.claim('read')
  if (claim !== null) return claim
  throw new Failure('busy', `An svc export is writing to ${vault.where}. Wait until it has ended.`)
}
