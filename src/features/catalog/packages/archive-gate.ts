import { Failure } from '../../../kernel/failure.ts'
import { createGate, type Pass } from '../../../kernel/gate.ts'
import { archivesAtOnce, archivesWaitingMax } from '../../../kernel/limits/packages.ts'

/**
 * A few at a time: whoever asks to have an archive looked at waits in line, up to a length, and is then told to come
 * back.
 */
export type ArchiveGate = Pass

export const createArchiveGate = (atOnce = archivesAtOnce, waitingMax = archivesWaitingMax): ArchiveGate =>
  createGate(atOnce, {
    waitingMax,
    full: () =>
      new Failure('busy', 'Too many packages are being registered at this moment; try again.', {
        retryAfterSeconds: 2,
      }),
  })
