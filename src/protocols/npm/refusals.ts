import { Failure, type FailureExtras } from '../../kernel/failure.ts'
import { npmQuotedMaxCharacters } from '../../kernel/limits/npm.ts'

export const packageUnknown = (name: string): Failure =>
  new Failure('not_found', `There is no package ${JSON.stringify(name.slice(0, 250))} here that you may see.`)

export const versionUnknown = (name: string, version: string): Failure =>
  new Failure('not_found', `version not found: ${version.slice(0, 256)} of ${name}`)

export const fileUnknown = (name: string, file: string): Failure =>
  new Failure('not_found', `There is no file ${JSON.stringify(file.slice(0, 500))} of ${name} here.`)

/** It can be read here, and is not ours to change. */
export const notPublishedHere = (name: string): Failure =>
  badPackage(
    `${name} is not published here: it comes from the upstream registry of the repository, and is not changed here.`,
  )

/** What was sent is not what it should be: one sentence that says what, and what to do. */
export const badPackage = (sentence: string, extras?: FailureExtras): Failure =>
  new Failure('invalid_request', sentence, extras)

/** What was sent, as a sentence may repeat it. */
export const quoted = (value: unknown): string => JSON.stringify(value ?? null).slice(0, npmQuotedMaxCharacters)

export const tooLarge = (sentence: string): Failure => new Failure('body_too_large', sentence)

/** The words of the registry of npm, by which tools know it. */
export const alreadyPublished = (version: string): Failure =>
  new Failure('version_exists', `You cannot publish over the previously published versions: ${version}.`)

export const tagUnknown = (name: string, tag: string): Failure =>
  new Failure('not_found', `${name} has no tag ${JSON.stringify(tag.slice(0, 250))}.`)
