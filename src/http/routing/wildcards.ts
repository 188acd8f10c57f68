/**
 * Paths with a wildcard in their middle, such as `/v2/{name+}/blobs/{digest}`, which the router cannot take: it goes
 * from the left, and where `{name+}` ends is seen from the right. So a path is folded before it is routed: what stands
 * for the wildcard becomes one segment, its slashes percent-encoded, and the router sees `/v2/{name}/blobs/{digest}`.
 * Methods, decoding, HEAD and refusals are from there on those of every other path.
 *
 * A template has one wildcard, so a path of some length says where it begins and ends: nothing is tried twice, and a
 * path is looked at in as many steps as it and the templates have segments.
 */

/** A piece of a template: its text, one segment of any text, or several of them. */
type Piece = { readonly text: string } | 'one' | 'several'

interface Template {
  readonly path: string
  readonly pieces: readonly Piece[]
  /** Where its wildcard stands; -1 without one. */
  readonly wild: number
  /** Its wildcard is the rest of the path (`{name*}`), which the router takes as it is. */
  readonly isRest: boolean
}

/**
 * Answers the path as the router takes it: another one only where a wildcard of some template stands for several
 * segments.
 */
export type Fold = (path: string) => string

const pieceOf = (segment: string): Piece => {
  if (/^\{[a-zA-Z]+[*+]\}$/.test(segment)) return 'several'
  if (/^\{[a-zA-Z]+\}$/.test(segment)) return 'one'
  if (segment.includes('{')) throw new Error(`${segment}: beside a wildcard a parameter is a whole segment`)
  return { text: segment }
}

const templateOf = (path: string): Template => {
  const pieces = path.split('/').map(pieceOf)
  const wild = pieces.indexOf('several')
  if (pieces.includes('several', wild + 1) && wild !== -1) throw new Error(`${path}: has more than one wildcard`)
  return { path, pieces, wild, isRest: path.endsWith('*}') }
}

/** The pieces of a template, one for each segment of a path that has so many; null where none of its paths has. */
const spread = ({ pieces, wild }: Template, segments: number): readonly Piece[] | null => {
  const more = segments - pieces.length
  if (more < 0 || (wild === -1 && more > 0)) return null
  return wild === -1 ? pieces : pieces.toSpliced(wild, 1, ...new Array<Piece>(more + 1).fill('several'))
}

/** How much a piece leaves open. */
const openness = (piece: Piece): number => (piece === 'several' ? 2 : piece === 'one' ? 1 : 0)

const textOf = (piece: Piece | undefined): string | null => (typeof piece === 'object' ? piece.text : null)

/** Whether some path has both. */
const meet = (these: readonly Piece[], those: readonly Piece[]): boolean =>
  these.every((piece, at) => {
    const [one, other] = [textOf(piece), textOf(those[at])]
    return one === null || other === null || one === other
  })

/**
 * Throws for two templates that could mean the same path, unless one of them says all that the other says and more:
 * then it has the path.
 */
const refuseAmbiguous = (one: Template, other: Template): void => {
  const refused = new Error(`${one.path} and ${other.path} could mean the same path`)
  const openings = new Set<number>()
  // Beyond this length only their wildcards grow.
  for (let segments = 1; segments <= one.pieces.length + other.pieces.length; segments++) {
    const [these, those] = [spread(one, segments), spread(other, segments)]
    if (these === null || those === null || !meet(these, those)) continue
    for (const [at, piece] of these.entries()) openings.add(Math.sign(openness(piece) - openness(those[at] ?? 'one')))
  }
  if (openings.has(1) && openings.has(-1)) throw refused
  // What is folded for one of them is not to be one segment of the other.
  const isFoldedInto = (folded: Template, into: Template): boolean =>
    folded.wild !== -1 && !folded.isRest && into.pieces[folded.wild] === 'one'
  const areAlike = one.pieces.length === other.pieces.length && meet(one.pieces, other.pieces)
  if (areAlike && (isFoldedInto(one, other) || isFoldedInto(other, one))) throw refused
  if (areAlike && openings.size === 1 && openings.has(0)) throw refused
}

/** Whether the path is one of the template's. */
const has = ({ pieces, wild }: Template, segments: readonly string[]): boolean => {
  const more = segments.length - pieces.length
  if (more < 0 || (wild === -1 && more > 0)) return false
  return segments.every((segment, at) => {
    const piece = at <= wild || wild === -1 ? pieces[at] : at <= wild + more ? 'several' : pieces[at - more]
    return typeof piece !== 'object' || piece.text === segment
  })
}

/** Of two templates that have the path one says more at every place where they differ. */
const closer = (one: Template, other: Template, segments: readonly string[]): Template => {
  const openTo = (template: Template): string => (spread(template, segments.length) ?? []).map(openness).join('')
  return openTo(other) < openTo(one) ? other : one
}

const folded = ({ pieces, wild }: Template, segments: readonly string[]): string => {
  const end = wild + segments.length - pieces.length + 1
  return segments.toSpliced(wild, end - wild, segments.slice(wild, end).join('%2F')).join('/')
}

/**
 * The folding of the paths of one wire, from the templates of its operations. A segment may be empty, as everywhere:
 * what a parameter may be says its schema. Throws when two templates are ambiguous: a service whose paths could be read
 * in two ways does not start.
 */
export const foldWildcards = (paths: Iterable<string>): Fold => {
  const all = [...new Set(paths)]
  if (!all.some((path) => path.includes('+}'))) return (path) => path
  const templates = all.map(templateOf)
  for (const [at, one] of templates.entries())
    for (const other of templates.slice(at + 1)) if (one.wild !== -1 || other.wild !== -1) refuseAmbiguous(one, other)
  return (path) => {
    const segments = path.split('/')
    const having = templates.filter((template) => has(template, segments))
    if (having.length === 0) return path
    const closest = having.reduce((one, other) => closer(one, other, segments))
    return closest.wild === -1 || closest.isRest ? path : folded(closest, segments)
  }
}
