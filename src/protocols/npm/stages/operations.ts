import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  inRepository,
  nullable,
  OpaqueCursor,
  pageLimit,
  StageName,
  Timestamp,
} from '../../../contract/schemas.ts'
import { Comment } from '../../../features/lifecycle/promotion/vocabulary.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { PackageName, Version } from '../packages/vocabulary.ts'

const path = '/api/v1/repositories/{repository}/npm/stages'
const common = { surface: 'catalog', visibility: 'repository' } as const

const versionStage = {
  package: PackageName,
  version: Version,
  stage: StageName,
  promotedAt: Timestamp,
  actor: Type.String(),
  comment: Comment,
}

export const listNpmStages = defineOperation({
  ...common,
  id: 'listNpmStages',
  method: 'GET',
  path,
  summary: 'List the stages of npm versions: of all, of one stage, of one package or of one of its versions',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    stage: Type.Optional(StageName),
    package: Type.Optional(PackageName),
    version: Type.Optional(Version),
    after: Type.Optional(OpaqueCursor),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page ordered by package, version and stage, each as bytes',
      fields({
        items: Type.Array(fields({ ...versionStage, actorName: ActorName }), { maxItems: pageMax }),
        next: nullable(OpaqueCursor),
      }),
    ),
  },
})

const change = {
  ...common,
  path: `${path}/{stage}`,
  access: { kind: 'repository', actions: ['artifact.promote', 'artifact.read'] },
  retry: 'idempotent',
  conditions: ['resource-state'],
  pathParameters: fields({ repository: Type.String(), stage: StageName }),
} as const

export const addNpmStage = defineOperation({
  ...change,
  id: 'addNpmStage',
  method: 'PUT',
  summary: 'Give a version of an npm package a stage; one that it has stays as it is',
  body: jsonBody(fields({ package: PackageName, version: Version, comment: Type.Optional(Comment) })),
  responses: { 200: answers('The stage', fields(versionStage)) },
  failures: ['stage_limit'],
})

export const removeNpmStage = defineOperation({
  ...change,
  id: 'removeNpmStage',
  method: 'DELETE',
  summary: 'Take a stage from a version of an npm package',
  query: fields({ package: PackageName, version: Version }),
  responses: { 204: answersNothing('The version does not have the stage') },
})
