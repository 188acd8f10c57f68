/** Where small files are kept, as settings. */
type Setting = Readonly<Record<'SVC_INLINE_BYTES', string>>

/** What tests go by that do not say: in the store, unless SVC_TEST_INLINE_BYTES says up to where not. */
export const asThisRunSays: Setting = { SVC_INLINE_BYTES: process.env['SVC_TEST_INLINE_BYTES'] ?? '0' }

/** For tests that look at the files of the store, or break them: none is kept in the database. */
export const inTheStore: Setting = { SVC_INLINE_BYTES: '0' }

/** For tests of what is kept in the database. */
export const inTheDatabase: Setting = { SVC_INLINE_BYTES: '16KiB' }

/** For tests that run on both engines and are long: one of them keeps small files in the database. */
export const byEngine = ({ name }: { readonly name: string }): Setting =>
  name === 'sqlite' ? inTheDatabase : inTheStore

/** For models: in one walk in the database, in the next one in the store. */
export const alternating = (): (() => Setting) => {
  let walk = 0
  return () => (walk++ % 2 === 0 ? inTheDatabase : inTheStore)
}
