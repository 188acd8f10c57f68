import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, inRepository, nullable, oneOf, Timestamp } from '../../../contract/schemas.ts'
import { npmVersionBlockers } from '../../../features/lifecycle/policies/vocabulary.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { PackageName, Version } from '../packages/vocabulary.ts'

export const explainNpmVersion = defineOperation({
  id: 'explainNpmVersion',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/npm/explain',
  summary: 'Ask why the storage policy keeps an npm version, or would delete it, and from when on',
  surface: 'operations',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ package: PackageName, version: Version }),
  responses: {
    200: answers(
      'What the saved policy makes of the version; `deletableAt` is null while something keeps it that time does not end. Without storage.read only the decision is told',
      fields({
        package: PackageName,
        version: Version,
        decision: oneOf(['not_covered', 'kept', 'deletable']),
        reasons: Type.Array(fields({ code: Type.String(), text: Type.String() }), { minItems: 1 }),
        deletableAt: nullable(Timestamp),
        blockers: Type.Array(oneOf(npmVersionBlockers), { uniqueItems: true }),
        policy: nullable(
          fields({
            revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
            enabled: Type.Boolean(),
            nextRunAt: nullable(Timestamp),
          }),
        ),
      }),
    ),
  },
})
