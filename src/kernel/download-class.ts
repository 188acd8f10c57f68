import { actorOf, type Caller } from './caller.ts'
import { networkOf } from './networks.ts'

/** From the most to the least urgent. */
export const downloadClasses = ['interactive', 'release', 'bulk', 'background'] as const
export type DownloadClass = (typeof downloadClasses)[number]

/** People are interactive, services and links are release. A caller may ask for a lower class, never for a higher one. */
export const appliedClass = (caller: Caller, asked: DownloadClass | undefined): DownloadClass => {
  const own: DownloadClass = caller.kind === 'account' ? 'interactive' : 'release'
  if (asked === undefined) return own
  return downloadClasses.indexOf(asked) > downloadClasses.indexOf(own) ? asked : own
}

/**
 * Whose share of the downloads a request takes. A link says nothing of who uses it, and anyone with one account could make
 * a thousand: what comes by links is shared between the networks that it comes from.
 */
export const shareOf = (caller: Caller, clientAddress: string): string =>
  caller.kind === 'link' ? `link:${networkOf(clientAddress)}` : actorOf(caller)
