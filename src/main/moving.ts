import { openVaultDirectory } from '../adapters/vault-directory/vault-directory.ts'
import { lockFile } from '../database/sqlite/file-lock.ts'
import { type Captured, type CaptureWish, capture } from '../features/operating/moving/capture.ts'
import type { Progress } from '../features/operating/moving/progress.ts'
import type { Restored } from '../features/operating/moving/restore.ts'
import { restoreExport } from '../features/operating/moving/restore-export.ts'
import type { Vault } from '../ports/vault.ts'
import type { Engines } from './engines.ts'
import { everyCheck } from './every-check.ts'
import { programVersion } from './version.ts'

/** The vault that is a folder. Nothing happens to it yet. */
export const openFolder = (path: string): Vault => openVaultDirectory(path, lockFile)

/** `svc export` and `svc import`: what moves, between the engines that are open and the vault that is a folder. */

export const exportTo = (engines: Engines, folder: string, wish: CaptureWish, progress: Progress): Promise<Captured> =>
  capture({ ...engines, vault: openFolder(folder), program: programVersion() }, wish, progress)

export const importFrom = (engines: Engines, folder: string, progress: Progress): Promise<Restored> =>
  restoreExport({ ...engines, vault: openFolder(folder), findings: () => everyCheck(engines) }, progress)
