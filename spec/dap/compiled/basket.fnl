(local config {:limit 3})

(fn total [items]
  "Sum of prices."
  (var sum 0)
  (each [_ item (ipairs items)]
    (set sum
         (+ sum
            item.price)))
  sum)

(fn fail [n]
  (error (.. "no " n)))

(macro twice [x] `(do ,x ,x))

(let [items [{:name "tea" :price 3}
             {:name "milk" :price 2}]]
  (print (total items))
  (twice
    (print config.limit))
  (print (pcall fail 7)))
