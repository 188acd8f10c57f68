import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  inRepository,
  nullable,
  OrderOfTime,
  oneOf,
  PointInTime,
  pageLimit,
  Sequence,
  SequenceCursor,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { journalActions } from '../../../kernel/journal-actions.ts'
import { assetPathMaxCharacters, changesWaitMaxSeconds, pageMax } from '../../../kernel/limits/catalog.ts'

const Change = fields({
  id: Type.String(),
  repository: Type.String(),
  sequence: Sequence,
  action: Type.String(),
  artifactId: Uuid,
  detail: nullable(Type.String()),
})

export const listCatalogChanges = defineOperation({
  id: 'listCatalogChanges',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/changes',
  summary: 'Follow what changes in a repository, oldest first',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    after: Type.Optional(Sequence),
    limit: pageLimit,
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: changesWaitMaxSeconds, default: 0 })),
  }),
  responses: {
    200: answers(
      'Changes beyond `after`, waiting up to `wait` seconds for the first; go on with `next`, which is never null. `head` is the last change there is',
      fields({ items: Type.Array(Change, { maxItems: pageMax }), next: Sequence, head: Sequence }),
    ),
  },
  failures: ['cursor_lost', 'busy'],
})

const AuditEntry = fields({
  sequence: Sequence,
  actor: Type.String(),
  actorName: ActorName,
  action: Type.String(),
  artifactId: Uuid,
  artifactName: nullable(Type.String()),
  detail: nullable(Type.String()),
  occurredAt: Timestamp,
})

export const listAudit = defineOperation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/audit',
  summary: 'List what was changed in a repository and by whom',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['audit.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({
    after: Type.Optional(SequenceCursor),
    order: OrderOfTime,
    actor: Type.Optional(text(1, 256)),
    action: Type.Optional(oneOf(journalActions)),
    subject: Type.Optional(text(1, assetPathMaxCharacters)),
    from: PointInTime,
    to: PointInTime,
  }),
  responses: {
    200: answers(
      'Up to 100 entries. Oldest first, the sequence of the last one is the `after` of the next page; newest first and where it is filtered, `next` is, and a page may show little and still have one. `actor` is a name or what entries call it, `subject` the id of a file or what `detail` says. `detail` and `artifactName` are for who may list artifacts; for others `subject` is an id alone',
      fields({
        items: Type.Array(AuditEntry, { maxItems: pageMax }),
        next: Type.Optional(nullable(SequenceCursor)),
      }),
    ),
  },
})
