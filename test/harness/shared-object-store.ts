import { type ObjectStore, startObjectStore } from './object-store.ts'

let own: Promise<ObjectStore> | undefined

/**
 * The object store of the whole run if there is one (test/run.ts names it), else one of our own, which ends with us.
 */
export const objectStoreUrl = async (): Promise<string> => {
  const url = process.env['SVC_TEST_S3_URL']
  if (url !== undefined && url !== '') return url
  own ??= startObjectStore()
  return (await own).url
}

/** Ends the one of our own, if any. */
export const stopOwnObjectStore = async (): Promise<void> => {
  const running = own
  own = undefined
  await (await running)?.stop()
}
