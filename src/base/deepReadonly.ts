/** The same value, of which nothing may be changed. */
export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends URL
    ? Value
    : Value extends object
      ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
      : Value
