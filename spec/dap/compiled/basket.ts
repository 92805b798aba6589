declare function print(...args: any[]): void;

interface Item {
    name: string;
    price: number;
}

class Basket {
    private items: Item[] = [];

    add(name: string, price: number): this {
        this.items.push({ name, price });
        return this;
    }

    total(): number {
        let sum = 0;
        for (let i = 0; i < this.items.length; i++) {
            sum += this.items[i].price;
        }
        return sum;
    }

    doubled(): number[] {
        return this.items.map(item => item.price * 2);
    }
}

function refuse(n: number): never {
    throw `no ${n}`;
}

const basket = new Basket();
basket
    .add("tea", 3)
    .add("milk", 2);
print(basket.total());
print(basket.doubled().length);
refuse(7);
