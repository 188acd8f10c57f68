import { TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from '../look/icons.tsx'

interface Given {
  readonly label: string
  readonly value: string
  /** Told of each letter; who keeps it in the address replaces the entry of the history. */
  readonly change: (text: string) => void
}

/** A part of a text by which a list is narrowed while it is typed. */
export const Filter = ({ label, value, change }: Given) => {
  // What is typed stands at once, whenever the address follows.
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  return (
    <TextInput
      className="grow"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        change(event.currentTarget.value)
      }}
    />
  )
}
