import { settle, type Way } from '../../content/settling/settling.ts'
import { withEngines } from './offline.ts'

/**
 * Moves all files that belong elsewhere by SVC_INLINE_BYTES, one way, beside a running service or without one.
 * Interrupted it has moved some, and the same command goes on. Ends with 1 where some cannot be moved, and names them.
 */
export const moveBlobs = (way: Way, filesPerSecond: number): Promise<void> =>
  withEngines(async (engines) => {
    const { inlineBytes } = engines.settings
    let [files, bytes, damaged] = [0, 0, 0]
    let stopped = false
    const stop = (): void => {
      stopped = true
    }
    process.once('SIGINT', stop).once('SIGTERM', stop)
    const wish = { inlineBytes, ways: [way], filesPerSecond }
    for await (const page of settle(engines, wish, () => stopped)) {
      files += page.moved.files
      bytes += page.moved.bytes
      damaged += page.damaged.length
      for (const { digest, finding } of page.damaged) console.log(`damage: blob ${digest}: ${finding}`)
    }
    console.log(`${files} files with ${bytes} bytes were moved ${way === 'in' ? 'into' : 'out of'} the database.`)
    console.log(
      inlineBytes === 0
        ? 'None belong there: SVC_INLINE_BYTES is 0.'
        : `Those of up to ${inlineBytes} bytes belong there (SVC_INLINE_BYTES).`,
    )
    if (stopped) console.log('Interrupted; the same command goes on.')
    if (damaged > 0) process.exitCode = 1
  })
