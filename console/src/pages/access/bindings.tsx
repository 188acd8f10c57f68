import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../contract/call.ts'
import { said, t } from '../../words/words.ts'
import { Actions, chosenActions } from '../actions.tsx'

/** What a program may, by repository. */
export type Bindings = Answer<'getServiceAccount'>['bindings']

export const BindingList = ({ bindings }: { readonly bindings: Bindings }) => (
  <ul className="lines">
    {bindings.map(({ resource, actions }) => (
      <li key={resource.id} className="panel">
        <strong className="mono">{resource.id}</strong>
        <p>{actions.map((action) => said('action', action)).join(', ')}</p>
      </li>
    ))}
  </ul>
)

/** The same, to be changed: actions of each repository, and another repository. */
export const EditBindings = ({
  bindings,
  change,
}: {
  readonly bindings: Bindings
  readonly change: (next: Bindings) => void
}) => {
  const [added, setAdded] = useState('')
  return (
    <>
      {bindings.map(({ resource, actions }) => (
        <div key={resource.id} className="panel">
          <strong className="mono">{resource.id}</strong>
          <Actions
            value={actions}
            change={(next) =>
              change(
                bindings.map((each) =>
                  each.resource.id === resource.id ? { resource, actions: chosenActions(next) } : each,
                ),
              )
            }
          />
        </div>
      ))}
      <div className="filters">
        <TextInput
          className="grow"
          label={t('services.add')}
          value={added}
          onChange={(event) => setAdded(event.currentTarget.value)}
        />
        <Button
          variant="default"
          disabled={added === '' || bindings.some(({ resource }) => resource.id === added)}
          onClick={() => {
            change([...bindings, { resource: { kind: 'repository', id: added }, actions: ['repository.read'] }])
            setAdded('')
          }}
        >
          {t('services.addIt')}
        </Button>
      </div>
    </>
  )
}
