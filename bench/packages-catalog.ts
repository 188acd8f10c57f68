import { hash } from 'node:crypto'

/** A package version of a number, and the stages that its file has reached. */
export interface CatalogPackage {
  readonly group: string
  readonly name: string
  readonly version: string
  readonly stages: readonly string[]
}

/** The package that has very many versions. */
export const busy = { group: 'platform', name: 'gateway' }
export const busyVersionsMax = 10_000

/** Digits of a digest instead of chance: the same on every run. */
const chance = (index: number, below: number): number =>
  Number.parseInt(hash('sha256', `package ${index}`).slice(0, 8), 16) % below

const perGroup = 500

/**
 * One of very many packages with a version each. Their names grow, so that filling a repository takes bearable time.
 */
export const catalogPackage = (index: number): CatalogPackage => {
  const number = String(index).padStart(7, '0')
  const version = `${chance(index, 9)}.${chance(index + 1, 40)}.${chance(index + 2, 100)}`
  return {
    group: `teams/team-${String(Math.floor(index / perGroup)).padStart(5, '0')}`,
    name: `service-${number}`,
    version: index % 20 === 0 ? `${version}-rc.1` : version,
    stages: [],
  }
}

const patches = 10
const minors = 20
/** What comes before each x.y.0. */
const trials = ['-alpha.1', '-beta.1', '-beta.2', '-rc.1', '-rc.2']
const perMinor = patches + trials.length

/** A version of the busy package, in the order in which a team publishes them. */
export const busyVersion = (index: number): CatalogPackage => {
  const minor = Math.floor(index / perMinor)
  const place = (index % perMinor) - trials.length
  const numbers = `${1 + Math.floor(minor / minors)}.${minor % minors}`
  const version = place < 0 ? `${numbers}.0${trials[place + trials.length] ?? ''}` : `${numbers}.${place}`
  const far = chance(index, 10)
  const stages = [...(far < 8 ? ['tested'] : []), ...(far < 4 ? ['approved'] : []), ...(far < 1 ? ['released'] : [])]
  return { ...busy, version, stages: place < 0 ? stages.slice(0, 1) : stages }
}
