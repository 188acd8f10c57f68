import { TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'

interface Given {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly type?: 'text' | 'date'
  /** Told of a whole value: on Enter, and when the field is left. */
  readonly change: (text: string) => void
}

/** Something by which the service filters a list, so that it is asked for once it is whole. */
export const ExactFilter = ({ label, hint, value, type = 'text', change }: Given) => {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = (next: string): void => {
    if (next.trim() !== value) change(next.trim())
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        commit(text)
      }}
    >
      <TextInput
        label={label}
        type={type}
        {...(hint === undefined ? {} : { placeholder: hint })}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          if (type === 'date') commit(event.currentTarget.value)
        }}
        onBlur={() => commit(text)}
      />
    </form>
  )
}
