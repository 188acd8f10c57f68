import { Failure } from '../../../kernel/failure.ts'

/** As much of a name as an answer shows. */
const shownCharacters = 120

const shown = (name: string): string =>
  JSON.stringify(name.length > shownCharacters ? `${name.slice(0, shownCharacters)}…` : name)

const pointerPart = (name: string): string =>
  name.slice(0, shownCharacters).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')

/** 400: the archive as a whole is none that we would hand to anyone. */
export const refuseArchive = (why: string): Failure =>
  new Failure('invalid_request', `The file is no valid package: ${why}.`, {
    details: [{ pointer: '/archive', message: why }],
  })

/** 400 because of one entry. */
export const refuseEntry = (name: string, why: string): Failure =>
  new Failure('invalid_request', `The file is no valid package: its entry ${shown(name)} ${why}.`, {
    details: [{ pointer: `/archive/${pointerPart(name)}`, message: why }],
  })

/** 400 because of what the manifest says. */
export const refuseManifest = (pointer: string, why: string): Failure =>
  new Failure('invalid_request', `The manifest upack.json is not valid: ${pointer === '' ? 'it' : pointer} ${why}.`, {
    details: [{ pointer: `/manifest${pointer}`, message: why }],
  })
