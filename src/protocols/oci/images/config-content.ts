import { platformOf } from '../platforms.ts'
import { type Fields, fieldsOf } from '../stored-json.ts'

/** What the config of an image says. Whatever is not as it should be is left out: null, or nothing in its list. */
export interface ConfigContent {
  readonly platform: string | null
  /** As it is written. */
  readonly created: string | null
  readonly author: string | null
  readonly user: string | null
  readonly workingDir: string | null
  readonly entrypoint: string[]
  readonly cmd: string[]
  /** Names alone: values may be secrets, and whoever runs the image has them. */
  readonly environment: string[]
  readonly exposedPorts: string[]
  readonly volumes: string[]
  readonly labels: Record<string, string>
  /** How it was made, in that order. */
  readonly history: Step[]
}

interface Step {
  readonly created: string | null
  readonly createdBy: string | null
  readonly author: string | null
  readonly comment: string | null
  /** It made no layer. */
  readonly emptyLayer: boolean
}

const isText = (value: unknown): value is string => typeof value === 'string'
const textOf = (value: unknown): string | null => (isText(value) && value !== '' ? value : null)
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const namesOf = (value: unknown): string[] => Object.keys(fieldsOf(value))

/** The texts of an object, by their names. */
export const textsByName = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).flatMap(([name, text]) => (isText(text) ? [[name, text]] : [])))

const stepOf = (value: unknown): Step => {
  const { created, created_by, author, comment, empty_layer } = fieldsOf(value)
  return {
    created: textOf(created),
    createdBy: textOf(created_by),
    author: textOf(author),
    comment: textOf(comment),
    emptyLayer: empty_layer === true,
  }
}

export const configContent = (fields: Fields): ConfigContent => {
  const { User, WorkingDir, Entrypoint, Cmd, Env, ExposedPorts, Volumes, Labels } = fieldsOf(fields['config'])
  return {
    platform: platformOf(fields),
    created: textOf(fields['created']),
    author: textOf(fields['author']),
    user: textOf(User),
    workingDir: textOf(WorkingDir),
    entrypoint: listOf(Entrypoint).filter(isText),
    cmd: listOf(Cmd).filter(isText),
    environment: listOf(Env).flatMap((entry) => (isText(entry) ? (entry.split('=', 1)[0] ?? []) : [])),
    exposedPorts: namesOf(ExposedPorts),
    volumes: namesOf(Volumes),
    labels: textsByName(Labels),
    history: listOf(fields['history']).map(stepOf),
  }
}
