import { hash } from 'node:crypto'
import { actorOf, type Caller } from './caller.ts'
import { remembered } from './remembered.ts'

/** From the most to the least urgent. */
export const downloadClasses = ['interactive', 'release', 'bulk', 'background'] as const
export type DownloadClass = (typeof downloadClasses)[number]

/**
 * People are interactive, services and links are release. A caller may ask for a lower class, never for a higher one.
 */
export const appliedClass = (caller: Caller, asked: DownloadClass | undefined): DownloadClass => {
  const own: DownloadClass = caller.kind === 'account' ? 'interactive' : 'release'
  if (asked === undefined) return own
  return downloadClasses.indexOf(asked) > downloadClasses.indexOf(own) ? asked : own
}

/**
 * Whose share of the downloads a request takes. A link takes that of who made it, or one account could have as many
 * shares as it makes links. It tells nobody who that was.
 */
export const shareOf = (caller: Caller): string =>
  caller.kind === 'link' ? caller.share : shareOfActor(actorOf(caller))

/** 72 bits: nobody finds another principal with the same share. */
export const shareOfActor = remembered((actor) =>
  hash('sha256', `svc share of downloads\0${actor}`, 'base64url').slice(0, 12),
)
