/** Where small files are kept, as settings. */
type Setting = Readonly<Record<'SVC_INLINE_BYTES', string>>

/** What tests go by that do not say: in the store, unless SVC_TEST_INLINE_BYTES says up to where not. */
export const asThisRunSays: Setting = { SVC_INLINE_BYTES: process.env['SVC_TEST_INLINE_BYTES'] ?? '0' }

/** For tests that look at the files of the store, or break them: none is kept in the database. */
export const inTheStore: Setting = { SVC_INLINE_BYTES: '0' }

/** For tests of what is kept in the database. */
export const inTheDatabase: Setting = { SVC_INLINE_BYTES: '16KiB' }
