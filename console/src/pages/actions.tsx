import { MultiSelect } from '@mantine/core'
import type { RepositoryAction } from '../contract/generated.ts'
import { said, t } from '../words/words.ts'

const everyAction = [
  'repository.read',
  'storage.read',
  'storage.manage',
  'diagnostics.read',
  'artifact.read',
  'artifact.list',
  'artifact.delete',
  'artifact.promote',
  'content.read',
  'upload.create',
  'upload.read',
  'upload.write',
  'upload.complete',
  'upload.cancel',
  'job.read',
  'package.read',
  'package.publish',
  'asset.read',
  'asset.write',
  'asset.restore',
  'annotation.read',
  'annotation.write',
  'reference.write',
  'audit.read',
] as const satisfies readonly RepositoryAction[]

export const chosenActions = (texts: readonly string[]): RepositoryAction[] =>
  everyAction.filter((action) => texts.includes(action))

/** Actions by what they allow, in words. */
export const Actions = ({ value, change }: { readonly value: string[]; readonly change: (next: string[]) => void }) => (
  <MultiSelect
    label={t('services.may')}
    searchable
    data={everyAction.map((action) => ({ value: action, label: said('action', action) }))}
    value={value}
    onChange={change}
  />
)
