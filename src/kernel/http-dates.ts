import { remembered } from './remembered.ts'

/**
 * The form of dates in HTTP, and two older ones that every recipient takes (RFC 9110, section 5.6.7); all are in UTC.
 */
const forms = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

/** A date of HTTP in seconds; NaN for what is none, which is neither before nor after anything. */
const dateOf = (text: string): number =>
  forms.some((form) => form.test(text)) ? seconds(Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)) : Number.NaN

/** A time as `Last-Modified` and others say it: to the second, so that it is never later than it was. */
export const httpDateText = remembered((timestamp) => new Date(timestamp).toUTCString())

/** Whether it was after a date of HTTP. False for a date that is none: such a condition is ignored. */
export const isLater = (timestamp: string, date: string): boolean => seconds(Date.parse(timestamp)) > dateOf(date)

/** Whether it was at a date of HTTP, to the second, or before it. False for a date that is none. */
export const isNotLater = (timestamp: string, date: string): boolean => seconds(Date.parse(timestamp)) <= dateOf(date)
