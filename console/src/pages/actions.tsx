import { MultiSelect } from '@mantine/core'
import { type RepositoryAction, repositoryActions } from '../contract/generated.ts'
import { said, t } from '../words/words.ts'

export const chosenActions = (texts: readonly string[]): RepositoryAction[] =>
  repositoryActions.filter((action) => texts.includes(action))

/** Actions by what they allow, in words. */
export const Actions = ({ value, change }: { readonly value: string[]; readonly change: (next: string[]) => void }) => (
  <MultiSelect
    label={t('services.may')}
    searchable
    data={repositoryActions.map((action) => ({ value: action, label: said('action', action) }))}
    value={value}
    onChange={change}
  />
)
