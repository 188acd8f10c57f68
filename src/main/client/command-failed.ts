/** How a command ends. 2 is left out: shells use it for themselves. */
export const exitCodes = {
  /** Refused, failed, or typed wrongly. */
  failed: 1,
  /** A name that nobody has, or that more than one has. */
  unknownName: 3,
  /** The credential was refused, or may not do this. */
  credentialRefused: 4,
  /** Nothing answers at the address, or something else than svc. */
  noService: 5,
  /** It answers, and cannot serve requests now. */
  notReady: 6,
} as const

/** Why a command could not do its work, in a sentence for whoever typed it. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly exitCode: number

  constructor(kind: keyof typeof exitCodes, message: string) {
    super(message)
    this.exitCode = exitCodes[kind]
  }
}
